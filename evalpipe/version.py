"""The version of evalpipe, read by the build and recorded in every result."""

VERSION = "1.0.0"
