"""What a transient watches for and switches: quantities that pass a value, locks, brakes, joints that break."""
