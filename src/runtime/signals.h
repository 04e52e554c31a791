#ifndef RUNTIME_SIGNALS_H
#define RUNTIME_SIGNALS_H
#include <signal.h>
void real_signals_begin(void);
int signals_own(int number, const struct sigaction *ours);
void signals_chain(int number, siginfo_t *info, void *context);
#endif
