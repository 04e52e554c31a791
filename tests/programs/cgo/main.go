// A goroutine calls C, which runs on its thread's stack, and computes itself.
package main

/*
static volatile unsigned long sink;
__attribute__((noinline)) static void c_work(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) static void c_outer(int n) { c_work(n); sink++; }
*/
import "C"
import "fmt"

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
	done <- total
}

func main() {
	done := make(chan int)
	go worker(done)
	fmt.Println(<-done)
}
