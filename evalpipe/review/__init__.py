"""What people do with a run that exists: verify it, compare it with another, accept it, sign it."""
