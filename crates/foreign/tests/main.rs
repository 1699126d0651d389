mod fixtures_read;
