// Computes without C: with CGO_ENABLED=0, the program needs no C library.
package main

import "fmt"

func main() {
	sum := 0
	for i := 0; i < 400000000; i++ {
		sum += i * i % 7
	}
	fmt.Println("sum", sum)
}
