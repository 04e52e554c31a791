/*
 * The parts of cpprof::collection (cpprof/profiler.hpp): elements that count how they are used, and iterators that
 * return such elements. Programs use them through cpprof/profiler.hpp, which includes this header.
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

/* Counts the accesses to the elements of one collection, or of several with the same name. */
struct accesses {
	cpprof_counter *reads = nullptr, *writes = nullptr;

	accesses() noexcept = default; /* for default-constructed iterators, which have no element to access */
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

/* The first argument of a collection's constructor: the name under which its accesses are counted. A program that
 * makes many collections should keep one object. */
class named
{
      public:
	explicit named(const char *name) : counted(name)
	{
	}
	accesses counted;
};

/* --- elements --- */

/* Whether the type is returned as an `element`, which counts each use. */
template <class T> struct is_counted_by_use {
	static constexpr bool value =
		std::is_arithmetic<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value;
};

/* A reference to an element that counts reads and writes. */
template <class T> class element
{
      public:
	element(T &value, const accesses &counted) noexcept : at(std::addressof(value)), counted(counted)
	{
	}
	element(const element &) noexcept = default;

	/* The first conversion counts a read. The second counts a write: it is for contexts that accept only a
	 * reference to non-const. Where both fit, the compiler takes the first, because that adds fewer qualifiers. */
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

	/* Counts a write, because the address may be used to write the element. */
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
	/* Assigns the value of the element that `other` refers to. */
	__attribute__((always_inline)) element &operator=(const element &other)
	{
		T value = other;
		counted.write();
		*at = value;
		return *this;
	}
	/* For elements that are pointers. */
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

	/* Swap the values of the elements, as std::swap does. */
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

/* The element that a map's iterator refers to, if uses of the mapped value are counted. */
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

/* The type in which an element is returned, and how that is counted. `Reference` is the container's own type, T & or
 * const T &. */
template <class Reference, class = void> struct handing_out { /* an element of a class, may be changed: a write */
	using reference = Reference;
	static constexpr bool is_kept = false;
	static Reference hand(Reference value, const accesses &counted)
	{
		counted.write();
		return static_cast<Reference>(value);
	}
};

template <class T> /* a value, as a const std::vector<bool> returns it: a read */
struct handing_out<T, typename std::enable_if<std::is_arithmetic<T>::value>::type> {
	using reference = T;
	static constexpr bool is_kept = false;
	static T hand(T value, const accesses &counted)
	{
		counted.read();
		return value;
	}
};

template <class T> struct handing_out<const T &, void> { /* may not be changed: a read */
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

/* Keeps an `element` in the iterator, so that `for (auto &x : points)` has an object to refer to. */
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
	/* Converts an iterator that may change elements into one that may not. */
	template <class Other, class = typename std::enable_if<std::is_convertible<Other, Base>::value>::type>
	counting_iterator(const counting_iterator<Other> &other) : at(other.at), counted(other.counted)
	{
	}

	/* Returns the container's own iterator. */
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

/* The result of a container's function, with its iterators replaced by counting iterators. */
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
