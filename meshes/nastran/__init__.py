"""Nastran bulk data as typed data, and the printed results of MSC Nastran."""
