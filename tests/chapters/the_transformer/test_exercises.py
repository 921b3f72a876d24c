"""The exercises, tried as readers would."""
