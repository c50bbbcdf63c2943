"""A DAG of Airflow that makes a model card every night, once the predictions of the day are there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

try:
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG
except ImportError:  # before Airflow 3
    from airflow.models.dag import DAG
    from airflow.operators.bash import BashOperator

with DAG(
    dag_id="nightly_model_card",
    schedule="30 2 * * *",
    start_date=datetime(2026, 11, 1, tzinfo=UTC),
    catchup=False,  # a card is about data that are there now, not about those of a day that was missed
    max_active_runs=1,
    tags=["evalpipe"],
) as dag:
    BashOperator(
        task_id="card",
        cwd="/srv/claims",
        bash_command=(
            "/srv/claims/.venv/bin/evalpipe run nightly.yaml --if-changed --timeout 1h "
            "--log-file evalpipe.jsonl --no-progress"
        ),
        append_env=True,
        # evalpipe ends by itself first, with an error that says in which step
        execution_timeout=timedelta(minutes=75),
        # a gate that failed, a wrong spec and wrong data are the same when it is tried again
        retries=0,
    )
