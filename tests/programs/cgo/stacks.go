// A goroutine whose calls of the runtime leave its stack: large allocations (runtime.systemstack), the clock (the vDSO), and stacks that
// grow (runtime.morestack). Three quarters of each are below often, one quarter below seldom.
package main

/*
static int of_c(void) { return 1; } // a program of the C library, which can preload
*/
import "C"
import (
	"fmt"
	"time"
)

var kept []byte
var sum int64

//go:noinline
func large() {
	kept = make([]byte, 1<<18)
}

//go:noinline
func clock() {
	for i := 0; i < 3000; i++ {
		sum += time.Now().UnixNano()
	}
}

//go:noinline
func deep(n int) int {
	var room [64]int
	if n == 0 {
		return 0
	}
	room[n%64] = deep(n - 1)
	return room[n%64] + 1
}

//go:noinline
func grows() {
	done := make(chan int)
	go func() { done <- deep(300) }()
	sum += int64(<-done)
}

//go:noinline
func works() {
	for i := 0; i < 15; i++ {
		large()
	}
	clock()
	grows()
}

//go:noinline
func often() {
	works()
	works()
	works()
}

//go:noinline
func seldom() {
	works()
}

func main() {
	sum += int64(C.of_c())
	for i := 0; i < 250; i++ {
		often()
		seldom()
	}
	fmt.Println(sum != 0)
}
