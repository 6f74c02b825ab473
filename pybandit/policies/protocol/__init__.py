"""Ask and tell, and what the families of policies share."""
