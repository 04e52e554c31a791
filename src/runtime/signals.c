#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/real.h"
void real_signals_begin(void){}
int real_sigmask(int h,const sigset_t*s,sigset_t*o){return REAL(pthread_sigmask)(h,s,o);}
int signals_own(int n,const struct sigaction*a){return REAL(sigaction)(n,a,NULL);}
void signals_chain(int n,siginfo_t*i,void*c){(void)n;(void)i;(void)c;}

int real_sigaction(int n,const struct sigaction*a,struct sigaction*o){return REAL(sigaction)(n,a,o);}
