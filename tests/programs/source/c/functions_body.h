{
	return x + 1;
}
