%% Half of the time is spent below direct, three tenths below a recursion, two tenths below a function that is passed
%% to another one: Erlang has no callback through C.
-module(shares).
-export([main/0, main/1, work/2, direct/1, descend/2, through_c/1]).

work(300000, X) -> X;
work(I, X) -> work(I + 1, (X * 31 + I) band 16#ffff).

direct(X) -> 1 + work(0, X).

descend(0, X) -> 1 + work(0, X);
descend(Depth, X) -> 1 + descend(Depth - 1, X).

through_c(X) -> 1 + lists:foldl(fun(_, Y) -> 1 + work(0, Y) end, X, [1]).

times(0, _, X) -> X;
times(N, F, X) -> times(N - 1, F, F(X)).

main() -> main(["300"]).

main([Rounds]) ->
	times(list_to_integer(Rounds), fun(X) ->
		A = times(5, fun direct/1, X),
		B = times(3, fun(Y) -> descend(8, Y) end, A),
		times(2, fun through_c/1, B)
	end, 1),
	io:format("share direct;work 0.5~nshare descend;work 0.3~nshare through_c;work 0.2~n"),
	halt().
