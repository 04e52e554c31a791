#ifndef LIBRARY_H
#define LIBRARY_H

long library_sum(int n, void (*callback)(int));
long replaced(long n);

#endif
