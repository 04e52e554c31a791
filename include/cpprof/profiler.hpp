/*
 * The Profiler for C++ (cpprof/profiler.h), and containers whose accesses are counted.
 *
 *     cpprof::collection<std::vector<int>> points(cpprof::named("points"), 1000);
 *     points[3] = 7;                    // a write
 *     int sum = 0;
 *     for (int point : points)          // a thousand reads
 *             sum += point;
 *     points[3]++;                      // a read and a write
 *
 *     cpprof record --instrumented -r own:points-reads/1 -r own:points-writes/1 ./a.out
 *     cpprof report --tree -r own:points-reads
 *
 * A collection<Container> has the members of its container, and counts accesses of elements where they happen, as two
 * resources of the program's own (cpprof/runtime.h), NAME-reads and NAME-writes; without a name, collection-reads and
 * collection-writes. Where nobody measures them an access costs the look at one word more.
 *
 *   - An element that is a number, a character, an enumerator or a pointer is handed out as a cpprof::element, which is a reference
 *     that knows whether it is read or written: by what is done with it, when it is done. As with std::vector<bool>, `auto x
 *     = points[3]` is such a reference, and no copy; `int x = points[3]` is one.
 *   - `int &x = points[3]` is counted as a write, whatever is done with x.
 *   - An element of a class is handed out as a reference: counted as a write, if it may be changed, as a read if not (that
 *     of a const collection, or of cpprof::reading(points)). Of maps, this goes for what a key leads to.
 *   - What adds elements (push_back, insert, resize, ...) writes each of them once; assign and fill all there are. Where a
 *     collection is copied, compared or swapped as a whole nothing is counted, nor of what is done by way of base(), the
 *     container itself, data() and c_str().
 *
 * The iterators are those of the container, and so are their rules of when they are valid; what one refers to is a
 * cpprof::element within the iterator. C++11 and later.
 */
#ifndef CPPROF_PROFILER_HPP
#define CPPROF_PROFILER_HPP

#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cpprof/profiler.h>
#include <cpprof/runtime.h>

namespace cpprof
{

/* The accesses to the elements of one collection, or of several of one name. */
struct accesses {
	cpprof_counter *reads = nullptr, *writes = nullptr;

	accesses() noexcept = default; /* of nothing that could be read or written */
	explicit accesses(const char *name)
	    : reads(cpprof_resource((std::string(name) + "-reads").c_str(), "read")),
	      writes(cpprof_resource((std::string(name) + "-writes").c_str(), "write"))
	{
	}
	__attribute__((always_inline)) inline void read(std::size_t count = 1) const
	{
		cpprof_tick(reads, count);
	}
	__attribute__((always_inline)) inline void write(std::size_t count = 1) const
	{
		cpprof_tick(writes, count);
	}
	static const accesses &unnamed()
	{
		static const accesses of_all("collection");
		return of_all;
	}
};

/* The first argument of a collection's constructor, to tell its accesses from others'. Keep one where many are made. */
class named
{
      public:
	explicit named(const char *name) : counted(name)
	{
	}
	accesses counted;
};

/* --- elements --- */

/* Whether an element is handed out as one that counts what is done with it. */
template <class T> struct is_counted_by_use {
	static constexpr bool value = std::is_arithmetic<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value;
};

/* A reference to an element. */
template <class T> class element
{
      public:
	element(T &value, const accesses &counted) noexcept : at(std::addressof(value)), counted(counted)
	{
	}
	element(const element &) noexcept = default;

	/* Read; and where only that will do, handed out to be written. Which one a compiler takes where both would do, the
	 * qualifiers say: it adds as few as it can. */
	__attribute__((always_inline)) operator const T &() const
	{
		counted.read();
		return *at;
	}
	__attribute__((always_inline)) operator T &() const volatile
	{
		const element *self = const_cast<const element *>(this);
		self->counted.write();
		return *self->at;
	}

	__attribute__((always_inline)) const element &operator=(const T &value) const
	{
		counted.write();
		*at = value;
		return *this;
	}
	/* What it refers to is assigned. */
	__attribute__((always_inline)) element &operator=(const element &other)
	{
		T value = other;
		counted.write();
		*at = value;
		return *this;
	}
	/* A pointer's. */
	template <class U = T, class = typename std::enable_if<std::is_pointer<U>::value>::type> U operator->() const
	{
		counted.read();
		return *at;
	}

#define CPPROF_ELEMENT_CHANGED_(sign)                                                                  \
	template <class U> __attribute__((always_inline)) const element &operator sign(const U &by) const \
	{                                                                                              \
		counted.read();                                                                        \
		counted.write();                                                                       \
		*at sign by;                                                                           \
		return *this;                                                                          \
	}
	CPPROF_ELEMENT_CHANGED_(+=)
	CPPROF_ELEMENT_CHANGED_(-=)
	CPPROF_ELEMENT_CHANGED_(*=)
	CPPROF_ELEMENT_CHANGED_(/=)
	CPPROF_ELEMENT_CHANGED_(%=)
	CPPROF_ELEMENT_CHANGED_(&=)
	CPPROF_ELEMENT_CHANGED_(|=)
	CPPROF_ELEMENT_CHANGED_(^=)
	CPPROF_ELEMENT_CHANGED_(<<=)
	CPPROF_ELEMENT_CHANGED_(>>=)
#undef CPPROF_ELEMENT_CHANGED_

	const element &operator++() const
	{
		counted.read();
		counted.write();
		++*at;
		return *this;
	}
	const element &operator--() const
	{
		counted.read();
		counted.write();
		--*at;
		return *this;
	}
	T operator++(int) const
	{
		counted.read();
		counted.write();
		return (*at)++;
	}
	T operator--(int) const
	{
		counted.read();
		counted.write();
		return (*at)--;
	}

	/* What they refer to, as std::swap does it. */
	friend void swap(const element &one, const element &other)
	{
		T value = one;
		one = static_cast<const T &>(other);
		other = value;
	}
	friend void swap(element &one, element &other)
	{
		swap(static_cast<const element &>(one), static_cast<const element &>(other));
	}
	friend void swap(const element &one, T &other)
	{
		T value = one;
		one = other;
		other = value;
	}
	friend void swap(T &one, const element &other)
	{
		swap(other, one);
	}

      private:
	T *at;
	accesses counted;
};

/* What a map's iterator refers to, where the value is counted by its use. */
template <class Key, class T> struct keyed_element {
	const Key &first;
	element<T> second;

	keyed_element(std::pair<const Key, T> &pair, const accesses &counted)
	    : first(pair.first), second(pair.second, counted)
	{
	}
	operator std::pair<const Key, T>() const
	{
		return std::pair<const Key, T>(first, second);
	}
};

/* How what a container refers to is handed out, and what that is counted as: `Reference` is its own, T & or const T &. */
template <class Reference, class = void> struct handing_out { /* an element of a class, to be changed */
	using reference = Reference;
	static constexpr bool is_kept = false;
	static Reference hand(Reference value, const accesses &counted)
	{
		counted.write();
		return static_cast<Reference>(value);
	}
};

template <class T> /* std::vector<bool>'s, not to be changed */
struct handing_out<T, typename std::enable_if<std::is_arithmetic<T>::value>::type> {
	using reference = T;
	static constexpr bool is_kept = false;
	static T hand(T value, const accesses &counted)
	{
		counted.read();
		return value;
	}
};

template <class T> struct handing_out<const T &, void> { /* not to be changed */
	using reference = const T &;
	static constexpr bool is_kept = false;
	static const T &hand(const T &value, const accesses &counted)
	{
		counted.read();
		return value;
	}
};

template <class T> struct handing_out<T &, typename std::enable_if<is_counted_by_use<T>::value && !std::is_const<T>::value>::type> {
	using reference = element<T>;
	static constexpr bool is_kept = true;
	static element<T> hand(T &value, const accesses &counted)
	{
		return element<T>(value, counted);
	}
};

template <class Key, class T>
struct handing_out<std::pair<const Key, T> &, typename std::enable_if<is_counted_by_use<T>::value>::type> {
	using reference = keyed_element<Key, T>;
	static constexpr bool is_kept = true;
	static keyed_element<Key, T> hand(std::pair<const Key, T> &value, const accesses &counted)
	{
		return keyed_element<Key, T>(value, counted);
	}
};

/* --- iterators --- */

/* What is handed out by use is kept in the iterator, so that `for (auto &x : points)` has something to refer to. */
template <class Handing, bool = Handing::is_kept> class kept
{
      public:
	using reference = typename Handing::reference;
	template <class Reference> reference hand(Reference &&value, const accesses &counted) const
	{
		return Handing::hand(value, counted);
	}
};

template <class Handing> class kept<Handing, true>
{
	using value = typename Handing::reference;

      public:
	using reference = value &;
	kept() noexcept
	{
	}
	kept(const kept &) noexcept
	{
	}
	kept &operator=(const kept &) noexcept
	{
		return *this;
	}
	template <class Reference> reference hand(Reference &&at, const accesses &counted) const
	{
		return *new (&memory) value(Handing::hand(at, counted));
	}

      private:
	mutable typename std::aligned_storage<sizeof(value), alignof(value)>::type memory;
};

template <class Base> class counting_iterator
{
	using traits = std::iterator_traits<Base>;
	using handing = handing_out<typename traits::reference>;
	template <class> friend class counting_iterator;

      public:
	using iterator_category = typename traits::iterator_category;
	using value_type = typename traits::value_type;
	using difference_type = typename traits::difference_type;
	using reference = typename kept<handing>::reference;
	using pointer = typename std::remove_reference<reference>::type *;

	counting_iterator() = default;
	counting_iterator(Base base, const accesses &counted) : at(base), counted(counted)
	{
	}
	/* An iterator that changes elements is one that does not. */
	template <class Other, class = typename std::enable_if<std::is_convertible<Other, Base>::value>::type>
	counting_iterator(const counting_iterator<Other> &other) : at(other.at), counted(other.counted)
	{
	}

	/* The container's own iterator. */
	const Base &base() const
	{
		return at;
	}
	reference operator*() const
	{
		return keeping.hand(*at, counted);
	}
	pointer operator->() const
	{
		return std::addressof(**this);
	}
	typename handing::reference operator[](difference_type by) const
	{
		return handing::hand(at[by], counted);
	}

	counting_iterator &operator++()
	{
		++at;
		return *this;
	}
	counting_iterator &operator--()
	{
		--at;
		return *this;
	}
	counting_iterator operator++(int)
	{
		return counting_iterator(at++, counted);
	}
	counting_iterator operator--(int)
	{
		return counting_iterator(at--, counted);
	}
	counting_iterator &operator+=(difference_type by)
	{
		at += by;
		return *this;
	}
	counting_iterator &operator-=(difference_type by)
	{
		at -= by;
		return *this;
	}
	counting_iterator operator+(difference_type by) const
	{
		return counting_iterator(at + by, counted);
	}
	counting_iterator operator-(difference_type by) const
	{
		return counting_iterator(at - by, counted);
	}
	friend counting_iterator operator+(difference_type by, const counting_iterator &from)
	{
		return from + by;
	}

      private:
	Base at{};
	accesses counted;
	kept<handing> keeping;
};

#define CPPROF_ITERATORS_(type, sign)                                                           \
	template <class A, class B>                                                             \
	auto operator sign(const counting_iterator<A> &one, const counting_iterator<B> &other) \
		->decltype(one.base() sign other.base())                                        \
	{                                                                                       \
		return one.base() sign other.base();                                            \
	}
CPPROF_ITERATORS_(bool, ==)
CPPROF_ITERATORS_(bool, !=)
CPPROF_ITERATORS_(bool, <)
CPPROF_ITERATORS_(bool, >)
CPPROF_ITERATORS_(bool, <=)
CPPROF_ITERATORS_(bool, >=)
CPPROF_ITERATORS_(difference, -)
#undef CPPROF_ITERATORS_

template <class T> T &&unwrapped(T &&value, ...)
{
	return static_cast<T &&>(value);
}
template <class Base> Base unwrapped(const counting_iterator<Base> &iterator, int)
{
	return iterator.base();
}
template <class Base> Base unwrapped(counting_iterator<Base> &iterator, int)
{
	return iterator.base();
}
template <class Base> Base unwrapped(counting_iterator<Base> &&iterator, int)
{
	return iterator.base();
}

/* What a container's function returns, with iterators that count. */
template <class Container, class Result, class = void> struct wrapped {
	using type = Result;
	static Result wrap(Result &&result, const accesses &)
	{
		return static_cast<Result &&>(result);
	}
};
template <class Container, class Result>
struct wrapped<Container, Result,
	       typename std::enable_if<std::is_same<Result, typename Container::iterator>::value ||
				       std::is_same<Result, typename Container::const_iterator>::value>::type> {
	using type = counting_iterator<Result>;
	static type wrap(const Result &result, const accesses &counted)
	{
		return type(result, counted);
	}
};
template <class Container, class First, class Second> struct wrapped<Container, std::pair<First, Second>, void> {
	using type = std::pair<typename wrapped<Container, First>::type, typename wrapped<Container, Second>::type>;
	static type wrap(std::pair<First, Second> &&result, const accesses &counted)
	{
		return type(wrapped<Container, First>::wrap(std::move(result.first), counted),
			    wrapped<Container, Second>::wrap(std::move(result.second), counted));
	}
};

/* --- collections --- */

template <class Container> class collection
{
	Container inner;
	accesses counted;

	/* Elements that are there when it goes and were not when it came are written. */
	class growing
	{
	      public:
		explicit growing(const collection &grows) : of(grows), before(grows.inner.size())
		{
		}
		~growing()
		{
			if (of.inner.size() > before)
				of.counted.write(of.inner.size() - before);
		}
		growing(const growing &) = delete;
		growing &operator=(const growing &) = delete;

	      private:
		const collection &of;
		std::size_t before;
	};

	template <class Argument, class... More> struct is_ours {
		using plain = typename std::decay<Argument>::type;
		static constexpr bool value = std::is_same<plain, collection>::value || std::is_same<plain, named>::value;
	};

      public:
	using container_type = Container;
	using value_type = typename Container::value_type;
	using size_type = typename Container::size_type;
	using difference_type = typename Container::difference_type;
	using iterator = counting_iterator<typename Container::iterator>;
	using const_iterator = counting_iterator<typename Container::const_iterator>;
	using reference = typename handing_out<typename Container::reference>::reference;
	using const_reference = typename handing_out<typename Container::const_reference>::reference;

	/* --- as the container is made --- */

	collection() : inner(), counted(accesses::unnamed())
	{
	}
	collection(const Container &elements) : inner(elements), counted(accesses::unnamed())
	{
	}
	collection(Container &&elements) : inner(std::move(elements)), counted(accesses::unnamed())
	{
	}
	collection(std::initializer_list<value_type> elements) : inner(elements), counted(accesses::unnamed())
	{
	}
	template <class... Arguments,
		  class = typename std::enable_if<(sizeof...(Arguments) > 0) && !is_ours<Arguments..., void>::value &&
						  std::is_constructible<Container, Arguments...>::value>::type>
	explicit collection(Arguments &&...arguments)
	    : inner(std::forward<Arguments>(arguments)...), counted(accesses::unnamed())
	{
	}
	explicit collection(const named &name) : inner(), counted(name.counted)
	{
	}
	collection(const named &name, std::initializer_list<value_type> elements) : inner(elements), counted(name.counted)
	{
	}
	template <class... Arguments>
	explicit collection(const named &name, Arguments &&...arguments)
	    : inner(std::forward<Arguments>(arguments)...), counted(name.counted)
	{
	}
	collection(const collection &) = default;
	collection(collection &&) = default;

	/* Its name stays. */
	collection &operator=(const collection &other)
	{
		inner = other.inner;
		return *this;
	}
	collection &operator=(collection &&other)
	{
		inner = std::move(other.inner);
		return *this;
	}
	collection &operator=(const Container &other)
	{
		inner = other;
		return *this;
	}
	collection &operator=(Container &&other)
	{
		inner = std::move(other);
		return *this;
	}
	collection &operator=(std::initializer_list<value_type> elements)
	{
		inner = elements;
		counted.write(inner.size());
		return *this;
	}

	/* The container, whose accesses nobody counts. */
	Container &base() noexcept
	{
		return inner;
	}
	const Container &base() const noexcept
	{
		return inner;
	}

	/* --- elements --- */

	template <class Key, class C = Container>
	__attribute__((always_inline)) auto operator[](Key &&key) ->
		typename handing_out<decltype(std::declval<C &>()[std::forward<Key>(key)])>::reference
	{
		growing counts(*this); /* a map's key that was not there */
		return handing_out<decltype(inner[std::forward<Key>(key)])>::hand(inner[std::forward<Key>(key)], counted);
	}
	template <class Key, class C = Container>
	__attribute__((always_inline)) auto operator[](Key &&key) const ->
		typename handing_out<decltype(std::declval<const C &>()[std::forward<Key>(key)])>::reference
	{
		return handing_out<decltype(inner[std::forward<Key>(key)])>::hand(inner[std::forward<Key>(key)], counted);
	}

#define CPPROF_HANDED_(name)                                                                                              \
	template <class... Arguments, class C = Container>                                                                                     \
	auto name(Arguments &&...arguments) -> typename handing_out<decltype(                                             \
		std::declval<C &>().name(std::forward<Arguments>(arguments)...))>::reference                      \
	{                                                                                                                 \
		return handing_out<decltype(inner.name(std::forward<Arguments>(arguments)...))>::hand(                    \
			inner.name(std::forward<Arguments>(arguments)...), counted);                                      \
	}                                                                                                                 \
	template <class... Arguments, class C = Container>                                                                                     \
	auto name(Arguments &&...arguments) const -> typename handing_out<decltype(                                       \
		std::declval<const C &>().name(std::forward<Arguments>(arguments)...))>::reference                \
	{                                                                                                                 \
		return handing_out<decltype(inner.name(std::forward<Arguments>(arguments)...))>::hand(                    \
			inner.name(std::forward<Arguments>(arguments)...), counted);                                      \
	}
	CPPROF_HANDED_(at)
	CPPROF_HANDED_(front)
	CPPROF_HANDED_(back)
#undef CPPROF_HANDED_

	/* --- iterators --- */

#define CPPROF_ITERATOR_(name, constness)                                                                     \
	template <class C = Container>                                                                        \
	auto name() constness -> counting_iterator<decltype(std::declval<constness C &>().name())>            \
	{                                                                                                     \
		return counting_iterator<decltype(std::declval<constness C &>().name())>(inner.name(), counted); \
	}
	CPPROF_ITERATOR_(begin, )
	CPPROF_ITERATOR_(end, )
	CPPROF_ITERATOR_(rbegin, )
	CPPROF_ITERATOR_(rend, )
	CPPROF_ITERATOR_(begin, const)
	CPPROF_ITERATOR_(end, const)
	CPPROF_ITERATOR_(rbegin, const)
	CPPROF_ITERATOR_(rend, const)
	CPPROF_ITERATOR_(cbegin, const)
	CPPROF_ITERATOR_(cend, const)
	CPPROF_ITERATOR_(crbegin, const)
	CPPROF_ITERATOR_(crend, const)
#undef CPPROF_ITERATOR_

	/* --- what touches no elements, or hands out many --- */

#define CPPROF_PASSED_(name, constness)                                                               \
	template <class... Arguments, class C = Container>                                                                 \
	auto name(Arguments &&...arguments)                                                           \
		constness->decltype(std::declval<constness C &>().name(std::forward<Arguments>(arguments)...)) \
	{                                                                                             \
		return inner.name(std::forward<Arguments>(arguments)...);                             \
	}
	CPPROF_PASSED_(size, const)
	CPPROF_PASSED_(length, const)
	CPPROF_PASSED_(empty, const)
	CPPROF_PASSED_(capacity, const)
	CPPROF_PASSED_(max_size, const)
	CPPROF_PASSED_(get_allocator, const)
	CPPROF_PASSED_(c_str, const)
	CPPROF_PASSED_(substr, const)
	CPPROF_PASSED_(compare, const)
	CPPROF_PASSED_(data, )
	CPPROF_PASSED_(data, const)
	CPPROF_PASSED_(clear, )
	CPPROF_PASSED_(reserve, )
	CPPROF_PASSED_(shrink_to_fit, )
	CPPROF_PASSED_(rehash, )
	CPPROF_PASSED_(pop_back, )
	CPPROF_PASSED_(pop_front, )
#undef CPPROF_PASSED_

	void swap(collection &other)
	{
		inner.swap(other.inner);
	}
	friend void swap(collection &one, collection &other)
	{
		one.swap(other);
	}

	/* --- what adds elements --- */

#define CPPROF_GROWING_(name)                                                                     \
	template <class... Arguments, class C = Container>                                                             \
	auto name(Arguments &&...arguments)                                                       \
		->decltype(std::declval<C &>().name(std::forward<Arguments>(arguments)...)) \
	{                                                                                         \
		growing counts(*this);                                                            \
		return inner.name(std::forward<Arguments>(arguments)...);                         \
	}
	CPPROF_GROWING_(emplace_back)
	CPPROF_GROWING_(emplace_front)
	CPPROF_GROWING_(resize)
	CPPROF_GROWING_(append)
#undef CPPROF_GROWING_

	void push_back(const value_type &value)
	{
		inner.push_back(value);
		counted.write();
	}
	void push_back(value_type &&value)
	{
		inner.push_back(std::move(value));
		counted.write();
	}
	void push_front(const value_type &value)
	{
		inner.push_front(value);
		counted.write();
	}
	void push_front(value_type &&value)
	{
		inner.push_front(std::move(value));
		counted.write();
	}
	template <class Argument> collection &operator+=(Argument &&argument)
	{
		growing counts(*this);
		inner += std::forward<Argument>(argument);
		return *this;
	}
	template <class... Arguments> void assign(Arguments &&...arguments)
	{
		inner.assign(unwrapped(std::forward<Arguments>(arguments), 0)...);
		counted.write(inner.size());
	}
	void assign(std::initializer_list<value_type> elements)
	{
		inner.assign(elements);
		counted.write(inner.size());
	}
	void fill(const value_type &value)
	{
		inner.fill(value);
		counted.write(inner.size());
	}

	/* --- what returns iterators --- */

#define CPPROF_RESULT_(name, constness) \
	wrapped<Container, decltype(std::declval<constness C &>().name(unwrapped(std::forward<Arguments>(arguments), 0)...))>
#define CPPROF_FOUND_(name, constness)                                                                        \
	template <class... Arguments, class C = Container>                                                                         \
	auto name(Arguments &&...arguments) constness->typename CPPROF_RESULT_(name, constness)::type         \
	{                                                                                                     \
		growing counts(*this);                                                                        \
		return CPPROF_RESULT_(name, constness)::wrap(                                                 \
			inner.name(unwrapped(std::forward<Arguments>(arguments), 0)...), counted);            \
	}
	CPPROF_FOUND_(insert, )
	CPPROF_FOUND_(insert_or_assign, )
	CPPROF_FOUND_(emplace, )
	CPPROF_FOUND_(emplace_hint, )
	CPPROF_FOUND_(try_emplace, )
	CPPROF_FOUND_(erase, )
	CPPROF_FOUND_(find, )
	CPPROF_FOUND_(find, const)
	CPPROF_FOUND_(rfind, const)
	CPPROF_FOUND_(count, const)
	CPPROF_FOUND_(contains, const)
	CPPROF_FOUND_(lower_bound, )
	CPPROF_FOUND_(lower_bound, const)
	CPPROF_FOUND_(upper_bound, )
	CPPROF_FOUND_(upper_bound, const)
	CPPROF_FOUND_(equal_range, )
	CPPROF_FOUND_(equal_range, const)
#undef CPPROF_FOUND_
#undef CPPROF_RESULT_

	template <class C = Container>
	auto insert(const value_type &value) ->
		typename wrapped<Container, decltype(std::declval<C &>().insert(value))>::type
	{
		growing counts(*this);
		return wrapped<Container, decltype(inner.insert(value))>::wrap(inner.insert(value), counted);
	}
	void insert(std::initializer_list<value_type> elements)
	{
		growing counts(*this);
		inner.insert(elements);
	}

	friend bool operator==(const collection &one, const collection &other)
	{
		return one.inner == other.inner;
	}
	friend bool operator!=(const collection &one, const collection &other)
	{
		return !(one.inner == other.inner);
	}
	friend bool operator<(const collection &one, const collection &other)
	{
		return one.inner < other.inner;
	}
};

/* The same collection, of which elements are only read. */
template <class Container> const collection<Container> &reading(const collection<Container> &all)
{
	return all;
}

} // namespace cpprof

#endif
