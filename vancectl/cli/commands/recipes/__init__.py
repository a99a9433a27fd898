"""`vancectl recipes`: what lies in the layers."""
