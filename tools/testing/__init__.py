"""How `make test` and `make check` run: what is dealt to which worker, what is known to pass, where a run is."""
