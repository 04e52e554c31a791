(* Half of the time is spent below direct, three tenths below a recursion, two tenths below a comparison that the C
   library's qsort calls. *)
external sort_pair : (unit -> int) -> unit = "sort_pair"

let result = ref 1

let[@inline never] work x =
  let x = ref x in
  for i = 0 to 299999 do
    x := ((!x * 31) + i) land 0xffff
  done;
  !x

let[@inline never] direct x = 1 + work x

let[@inline never] rec descend depth x = if depth = 0 then 1 + work x else 1 + descend (depth - 1) x

let[@inline never] compare () =
  result := work !result;
  0

let[@inline never] through_c () =
  sort_pair compare;
  1 + !result

let () =
  let rounds = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 300 in
  let x = ref 1 in
  for _ = 1 to rounds do
    for _ = 1 to 5 do x := direct !x done;
    for _ = 1 to 3 do x := descend 8 !x done;
    for _ = 1 to 2 do x := through_c () done
  done;
  print_string "share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2\n"
