// C calls Go back: EVENTS events are the work of C that Go called below 1 and below 4 calls of Go by C, and below C on a thread of its own. In each of
// the three places, the innermost function then waits.
package main

/*
#include <pthread.h>
#include "../events.h"
#include "../hold.h"
enum { EVENTS_EACH = 20 };
extern void goBack(int below);
static __attribute__((noinline)) void c_work(void) { for (int i = 0; i < EVENTS_EACH; i++) EVENT_HERE(); hold(); }
// The address of a variable length array needs rbp, which Go's code between has used.
static __attribute__((noinline)) void c_back(int below) { volatile char room[below + 1]; room[below] = 0; goBack(below); room[0] = room[below]; }
static __attribute__((noinline)) void *c_thread(void *below) { c_back(*(int *)below); return below; }
static void c_on_own_thread(int below) { pthread_t thread; pthread_create(&thread, 0, c_thread, &below); pthread_join(thread, 0); }
*/
import "C"

//export goBack
func goBack(below C.int) {
	if below == 0 {
		inGo()
	} else {
		C.c_back(below - 1)
	}
}

//go:noinline
func inGo() {
	C.c_work()
}

//go:noinline
func once() {
	C.c_back(0)
}

//go:noinline
func nested() {
	C.c_back(3)
}

func main() {
	once()
	nested()
	C.c_on_own_thread(1)
}
