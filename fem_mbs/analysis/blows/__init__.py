"""Blows of rigid surfaces with restitution, and the unilateral contact in which they end."""
