"""The version of evalpipe, read by the build and recorded in every result."""

VERSION = "0.1.0"
