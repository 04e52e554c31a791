/* Lets the C library's qsort call a function of OCaml once. */
#include <stdlib.h>

#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

static value function;

static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	return Int_val(caml_callback(function, Val_unit));
}

value sort_pair(value closure)
{
	CAMLparam1(closure);
	int pair[2] = { 2, 1 };
	function = closure;
	caml_register_generational_global_root(&function);
	qsort(pair, 2, sizeof(pair[0]), compare);
	caml_remove_generational_global_root(&function);
	CAMLreturn(Val_unit);
}
