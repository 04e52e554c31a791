// Half of the time is spent below direct, three tenths below a recursion, two tenths below a comparison that the C
// library's qsort calls.
package main

/*
#include <stdlib.h>
extern int compare(void *a, void *b);
static void sort_pair(void)
{
	int pair[2] = { 2, 1 };
	qsort(pair, 2, sizeof(pair[0]), (int (*)(const void *, const void *))compare);
}
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

var result = 1

//go:noinline
func work(x int) int {
	for i := 0; i < 300000; i++ {
		x = (x*31 + i) & 0xffff
	}
	return x
}

//go:noinline
func direct(x int) int { return work(x) + 1 }

//go:noinline
func descend(depth, x int) int {
	if depth == 0 {
		return work(x) + 1
	}
	return descend(depth-1, x) + 1
}

//export compare
func compare(a, b unsafe.Pointer) C.int {
	result = work(result)
	return 0
}

//go:noinline
func through_c() int {
	C.sort_pair()
	return result + 1
}

func main() {
	rounds := 300
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	x := 1
	for i := 0; i < rounds; i++ {
		for j := 0; j < 5; j++ {
			x = direct(x)
		}
		for j := 0; j < 3; j++ {
			x = descend(8, x)
		}
		for j := 0; j < 2; j++ {
			x = through_c()
		}
	}
	fmt.Printf("share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2\n")
}
