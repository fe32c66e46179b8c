"""The hazard zoo: small trainable networks with hazards planted at known places."""
