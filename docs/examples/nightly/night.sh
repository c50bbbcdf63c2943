#!/bin/sh
# One night: sh night.sh 2026-11-21
day=$1
report="reports/claims-$day"

evalpipe run claims.yaml --as-of "$day" --out "$report" --if-changed --timeout 1h --log-file evalpipe.jsonl --no-progress
code=$?
[ "$code" -le 1 ] || exit "$code"  # no new report: the last line of evalpipe.jsonl says why

evalpipe export "$report" --to openmetrics --out claims.prom || exit
evalpipe verify "$report" > verified.txt || exit
exit "$code"
