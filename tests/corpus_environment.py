"""The variables of the environment that specs of the corpus name."""

ENVIRONMENT = {
    "EVALPIPE_TEST_NAME": "from-environment",
    "EVALPIPE_TEST_FOLDER": "data",
    "EVALPIPE_TEST_NUMBER": "0.25",
    "EVALPIPE_TEST_HIDDEN": "hunter 2",
    "EVALPIPE_TEST_SECRET": "hunter 2",
    "EVALPIPE_TEST_ADDRESS": "postgresql://nightly:hunter-2@db.example/claims",
    "EVALPIPE_TEST_KEY": "-----BEGIN PRIVATE KEY-----\nhunter 2\n-----END PRIVATE KEY-----\n",
}
