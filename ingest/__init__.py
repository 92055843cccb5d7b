"""One sync of one cluster: read, record, derive. Readers run in threads; everything is written by one, in transactions that move the cursor."""
