"""What a sampler is judged by: networks with known hazards, measured tables, synthetic chains."""
