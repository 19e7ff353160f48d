"""Events of a transient: quantities that pass a value, and constraints that switch (locks, brakes, joints that
break)."""
