"""Element types: kinematics and compiled kernels.  See `fem_mbs.contract` for the contract."""
