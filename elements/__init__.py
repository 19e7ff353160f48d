"""Element types: kinematics and compiled kernels.  See `fem_mbs.elements.interface` for the contract."""
