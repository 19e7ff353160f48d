"""What the package is asked to do, by which the validation files are grouped in the report."""

from __future__ import annotations

__all__ = ["CAPABILITIES"]

#: The value of CAPABILITY in a validation file -> its heading in the report, in the order of the report.
CAPABILITIES = {
    "beams": "Beams, trusses and frames at large rotations",
    "shells": "Shells, plates and solids",
    "mechanisms": "Rigid bodies, joints and mechanisms",
    "flexible": "Flexible mechanisms in motion",
    "integration": "Time integration: conservation and order",
    "modes": "Natural frequencies and harmonic response",
    "rotors": "Rotors",
    "buckling": "Buckling, flutter and limit loads",
    "reduction": "Component mode synthesis",
    "contact": "Contact, impact, friction and locks",
    "actuators": "Springs, actuators and controllers",
    "inverse": "Inverse dynamics, identification and sensitivities",
    "vehicles": "Tyres, vehicles and roads",
}
