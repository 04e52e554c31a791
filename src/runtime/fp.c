#include "runtime/runtime.h"
int fp_install(void){return 0;}
void fp_start(struct runtime_thread *thread){(void)thread;}
void fp_stop(struct runtime_thread *thread){(void)thread;}
void fp_tick(struct runtime_thread *thread, void *context){(void)thread;(void)context;}
