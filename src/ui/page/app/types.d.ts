// Types that browsers have and that the library of this TypeScript version lacks.
declare class DecompressionStream {
	constructor(format: "deflate");
	readonly readable: ReadableStream<Uint8Array>;
	readonly writable: WritableStream<Uint8Array>;
}

interface Array<T> {
	toSpliced(start: number, count: number, ...items: T[]): T[];
	findLast(predicate: (value: T, index: number, all: T[]) => boolean): T | undefined;
	findLastIndex(predicate: (value: T, index: number, all: T[]) => boolean): number;
}
