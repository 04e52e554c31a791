// A goroutine calls C, which runs on its thread's stack, and computes itself. C calls Go back, on a thread of Go and on one that C has made.
package main

/*
#include <pthread.h>
extern void goBack(int n);
static volatile unsigned long sink;
__attribute__((noinline)) static void c_work(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static void c_outer(int n) { c_work(n); sink++; }
__attribute__((noinline)) static void c_calls_back(int n) { goBack(n); sink++; }
__attribute__((noinline)) static void *c_thread(void *n) { for (int i = 0; i < 100; i++) c_calls_back(*(int *)n); return 0; }
static void c_on_own_thread(int n) { pthread_t thread; pthread_create(&thread, 0, c_thread, &n); pthread_join(thread, 0); }
*/
import "C"
import "fmt"

var backs int

//export goBack
func goBack(n C.int) {
	backs += goWork(int(n))
}

//go:noinline
func goWork(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * i
	}
	return sum
}

//go:noinline
func caller(n int) {
	C.c_outer(C.int(n))
}

func worker(done chan int) {
	total := 0
	for i := 0; i < 100; i++ {
		caller(2000000)
		total += goWork(1000000)
	}
	for i := 0; i < 100; i++ {
		C.c_calls_back(1000000)
	}
	C.c_on_own_thread(1000000)
	done <- total
}

func main() {
	done := make(chan int)
	go worker(done)
	fmt.Println(<-done)
}
