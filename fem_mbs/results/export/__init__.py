"""Results in the formats of other programs: tables (CSV), VTU and XDMF."""
