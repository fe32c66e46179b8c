"""Small networks of which every policy has been trained, and what became of each."""
