/*
 * What cpprof::collection (cpprof/profiler.hpp) is made of: elements that know what is done with them, and iterators that hand
 * them out. For programs to use, not to include.
 */
#ifndef CPPROF_ELEMENTS_HPP
#define CPPROF_ELEMENTS_HPP

#pragma GCC system_header

#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

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
	static constexpr bool value =
		std::is_arithmetic<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value;
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

	/* What it refers to has an address, by which it may be written. */
	T *operator&() const
	{
		counted.write();
		return at;
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

#define CPPROF_ELEMENT_CHANGED_(sign)                                                                     \
	template <class U> __attribute__((always_inline)) const element &operator sign(const U &by) const \
	{                                                                                                 \
		counted.read();                                                                           \
		counted.write();                                                                          \
		*at sign by;                                                                              \
		return *this;                                                                             \
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

template <class T>
struct handing_out<T &, typename std::enable_if<is_counted_by_use<T>::value && !std::is_const<T>::value>::type> {
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

#define CPPROF_ITERATORS_(type, sign)                                                          \
	template <class A, class B>                                                            \
	auto operator sign(const counting_iterator<A> &one, const counting_iterator<B> &other) \
		->decltype(one.base() sign other.base())                                       \
	{                                                                                      \
		return one.base() sign other.base();                                           \
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
template <class> class collection;
template <class Container> Container &unwrapped(collection<Container> &of, int)
{
	return of.base();
}
template <class Container> const Container &unwrapped(const collection<Container> &of, int)
{
	return of.base();
}
template <class Container> Container &&unwrapped(collection<Container> &&of, int)
{
	return std::move(of.base());
}

/* What a container's function returns, with iterators that count. */
template <class Container, class Result, class = void> struct wrapped {
	using type = Result;
	static Result wrap(Result &&result, const accesses &)
	{
		return static_cast<Result &&>(result);
	}
};
template <class Container> struct wrapped<Container, void, void> { /* nothing */
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

} // namespace cpprof

#endif
