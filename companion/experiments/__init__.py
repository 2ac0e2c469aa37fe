"""An experiment of the kind in Section 4: its parts, its seeds, and one repetition of it, from sample to criteria."""
