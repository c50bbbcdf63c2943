"""`evalpipe init`: what a spec for files of predictions may say, read off their columns; the event is never guessed."""
