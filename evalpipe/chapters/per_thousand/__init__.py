"""What happens to a thousand rows: how many events are found and missed, and how many false alarms there are."""
