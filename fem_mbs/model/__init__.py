"""The model builder: what users call to describe a machine."""
