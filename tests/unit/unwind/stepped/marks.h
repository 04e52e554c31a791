/* test_unwind_stepped.c steps through the part of a program between BEGIN and END, one instruction at a time. */
#ifndef STEPPED_MARKS_H
#define STEPPED_MARKS_H

#define BEGIN() __asm__ volatile("int3" ::: "memory")
#define END() __asm__ volatile("int3" ::: "memory")

/* Keeps calls and buffers from being optimised away. */
#define KEEP(value) __asm__ volatile("" : "+r"(value)::"memory")
#define NOINLINE __attribute__((noinline))

#endif
