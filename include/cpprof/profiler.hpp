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
 * A collection<Container> has the members of its container, and counts accesses to elements where they happen, as
 * two resources of the program (cpprof/runtime.h): NAME-reads and NAME-writes, or collection-reads and
 * collection-writes without a name. While nothing measures them, an access only reads one additional word.
 *
 *   - A number, character, enumerator or pointer is returned as a cpprof::element: a reference that counts a read or
 *     a write when it is used, depending on the use. As with std::vector<bool>, `auto x = points[3]` is such a
 *     reference and not a copy; `int x = points[3]` is a copy.
 *   - `int &x = points[3]` counts one write, whatever the program does with x.
 *   - An element of a class is returned as a reference. That counts a write if the element may be changed, or a read if
 *     not (in a const collection, or by cpprof::reading(points)). For maps this applies to the mapped value.
 *   - Functions that add elements (push_back, insert, resize, ...) write each new element once; assign and fill write
 *     all elements.
 *   - Not counted: copying, comparing and swapping whole collections, and access through base(), the container itself,
 *     data() and c_str().
 *
 * The iterators wrap the iterators of the container, and are valid as long as those. An iterator refers to a cpprof::element
 * that is stored in the iterator. C++11 and later.
 */
#ifndef CPPROF_PROFILER_HPP
#define CPPROF_PROFILER_HPP

#pragma GCC system_header

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <cpprof/elements.hpp>
#include <cpprof/profiler.h>
#include <cpprof/runtime.h>

namespace cpprof
{

template <class Container> class collection
{
      public:
	using container_type = Container;
	using value_type = typename Container::value_type;
	using size_type = typename Container::size_type;
	using difference_type = typename Container::difference_type;
	using iterator = counting_iterator<typename Container::iterator>;
	using const_iterator = counting_iterator<typename Container::const_iterator>;
	using reference = typename handing_out<typename Container::reference>::reference;
	using const_reference = typename handing_out<typename Container::const_reference>::reference;

      private:
	Container inner;
	accesses counted;

	/* Counts a write for each element that was added between its constructor and its destructor. */
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

	/* For arrays, which cannot be constructed from a list. */
	template <class C> static C made_of(std::initializer_list<value_type> elements, ...)
	{
		C made{};
		auto at = made.begin();
		for (auto element = elements.begin(); element != elements.end() && at != made.end(); ++element)
			*at++ = *element;
		return made;
	}
	template <class C, class = typename std::enable_if<std::is_constructible<
				   C, std::initializer_list<typename C::value_type>>::value>::type>
	static C made_of(std::initializer_list<value_type> elements, int)
	{
		return C(elements);
	}

	template <class Argument, class... More> struct is_ours {
		using plain = typename std::decay<Argument>::type;
		static constexpr bool value =
			std::is_same<plain, collection>::value || std::is_same<plain, named>::value;
	};

      public:
	/* --- constructors, as the container has --- */

	collection() : inner(), counted(accesses::unnamed())
	{
	}
	collection(const Container &elements) : inner(elements), counted(accesses::unnamed())
	{
	}
	collection(Container &&elements) : inner(std::move(elements)), counted(accesses::unnamed())
	{
	}
	collection(std::initializer_list<value_type> elements)
	    : inner(made_of<Container>(elements, 0)), counted(accesses::unnamed())
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
	collection(const named &name, std::initializer_list<value_type> elements)
	    : inner(made_of<Container>(elements, 0)), counted(name.counted)
	{
	}
	template <class... Arguments>
	explicit collection(const named &name, Arguments &&...arguments)
	    : inner(std::forward<Arguments>(arguments)...), counted(name.counted)
	{
	}
	collection(const collection &) = default;
	collection(collection &&) = default;

	/* Assignments keep the collection's name. */
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
		inner = made_of<Container>(elements, 0);
		counted.write(inner.size());
		return *this;
	}

	/* Returns the container. Accesses through it are not counted. */
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
		growing counts(*this); /* counts the insertion of a missing key in a map */
		return handing_out<decltype(inner[std::forward<Key>(key)])>::hand(inner[std::forward<Key>(key)],
										  counted);
	}
	template <class Key, class C = Container>
	__attribute__((always_inline)) auto operator[](Key &&key) const ->
		typename handing_out<decltype(std::declval<const C &>()[std::forward<Key>(key)])>::reference
	{
		return handing_out<decltype(inner[std::forward<Key>(key)])>::hand(inner[std::forward<Key>(key)],
										  counted);
	}

#define CPPROF_HANDED_(name)                                                                                     \
	template <class... Arguments, class C = Container>                                                       \
	auto name(Arguments &&...arguments)                                                                      \
		->typename handing_out<decltype(std::declval<C &>().name(                                        \
			std::forward<Arguments>(arguments)...))>::reference                                      \
	{                                                                                                        \
		return handing_out<decltype(inner.name(std::forward<Arguments>(arguments)...))>::hand(           \
			inner.name(std::forward<Arguments>(arguments)...), counted);                             \
	}                                                                                                        \
	template <class... Arguments, class C = Container>                                                       \
	auto name(Arguments &&...arguments) const->typename handing_out<decltype(std::declval<const C &>().name( \
		std::forward<Arguments>(arguments)...))>::reference                                              \
	{                                                                                                        \
		return handing_out<decltype(inner.name(std::forward<Arguments>(arguments)...))>::hand(           \
			inner.name(std::forward<Arguments>(arguments)...), counted);                             \
	}
	CPPROF_HANDED_(at)
	CPPROF_HANDED_(front)
	CPPROF_HANDED_(back)
#undef CPPROF_HANDED_

	/* --- iterators --- */

#define CPPROF_ITERATOR_(name, constness)                                                                        \
	template <class C = Container>                                                                           \
	auto name() constness->counting_iterator<decltype(std::declval<constness C &>().name())>                 \
	{                                                                                                        \
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

	/* --- functions that access no element, or return several --- */

#define CPPROF_PASSED_(name, constness)                                                                        \
	template <class... Arguments, class C = Container>                                                     \
	auto name(Arguments &&...arguments)                                                                    \
		constness->decltype(std::declval<constness C &>().name(std::forward<Arguments>(arguments)...)) \
	{                                                                                                      \
		return inner.name(std::forward<Arguments>(arguments)...);                                      \
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
	CPPROF_PASSED_(copy, const)
	CPPROF_PASSED_(find_first_of, const)
	CPPROF_PASSED_(find_last_of, const)
	CPPROF_PASSED_(find_first_not_of, const)
	CPPROF_PASSED_(find_last_not_of, const)
	CPPROF_PASSED_(starts_with, const)
	CPPROF_PASSED_(ends_with, const)
	CPPROF_PASSED_(key_comp, const)
	CPPROF_PASSED_(value_comp, const)
	CPPROF_PASSED_(key_eq, const)
	CPPROF_PASSED_(hash_function, const)
	CPPROF_PASSED_(bucket, const)
	CPPROF_PASSED_(bucket_count, const)
	CPPROF_PASSED_(bucket_size, const)
	CPPROF_PASSED_(max_bucket_count, const)
	CPPROF_PASSED_(load_factor, const)
	CPPROF_PASSED_(max_load_factor, const)
	CPPROF_PASSED_(max_load_factor, )
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

	/* --- functions that add elements --- */

#define CPPROF_GROWING_(name)                                                                                          \
	template <class... Arguments, class C = Container>                                                             \
	auto name(Arguments &&...arguments)->decltype(std::declval<C &>().name(std::forward<Arguments>(arguments)...)) \
	{                                                                                                              \
		growing counts(*this);                                                                                 \
		return inner.name(std::forward<Arguments>(arguments)...);                                              \
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

	/* --- functions that take or return iterators, or other collections --- */

#define CPPROF_RESULT_(name, constness) \
	wrapped<Container,              \
		decltype(std::declval<constness C &>().name(unwrapped(std::forward<Arguments>(arguments), 0)...))>
#define CPPROF_FOUND_(name, constness)                                                                \
	template <class... Arguments, class C = Container>                                            \
	auto name(Arguments &&...arguments) constness->typename CPPROF_RESULT_(name, constness)::type \
	{                                                                                             \
		growing counts(*this);                                                                \
		return CPPROF_RESULT_(name, constness)::wrap(                                         \
			inner.name(unwrapped(std::forward<Arguments>(arguments), 0)...), counted);    \
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
	CPPROF_FOUND_(extract, )
	CPPROF_FOUND_(replace, )
	CPPROF_FOUND_(unique, )
	CPPROF_FOUND_(remove, )
	CPPROF_FOUND_(remove_if, )
#undef CPPROF_FOUND_
#undef CPPROF_RESULT_

#define CPPROF_DONE_(name)                                                                   \
	template <class... Arguments, class C = Container>                                   \
	auto name(Arguments &&...arguments)                                                  \
		->typename std::enable_if<std::is_void<decltype(std::declval<C &>().name(    \
			unwrapped(std::forward<Arguments>(arguments), 0)...))>::value>::type \
	{                                                                                    \
		growing counts(*this);                                                       \
		inner.name(unwrapped(std::forward<Arguments>(arguments), 0)...);             \
	}
	CPPROF_DONE_(insert)
	CPPROF_DONE_(merge)
	CPPROF_DONE_(splice)
	CPPROF_DONE_(sort)
	CPPROF_DONE_(reverse)
	CPPROF_DONE_(unique)
	CPPROF_DONE_(remove)
	CPPROF_DONE_(remove_if)
	CPPROF_DONE_(flip)
#undef CPPROF_DONE_

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
	template <class C = Container>
	auto insert(const_iterator at, std::initializer_list<value_type> elements) ->
		typename wrapped<Container, decltype(std::declval<C &>().insert(at.base(), elements))>::type
	{
		growing counts(*this);
		return wrapped<Container, decltype(inner.insert(at.base(), elements))>::wrap(
			inner.insert(at.base(), elements), counted);
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
	friend bool operator>(const collection &one, const collection &other)
	{
		return other < one;
	}
	friend bool operator<=(const collection &one, const collection &other)
	{
		return !(other < one);
	}
	friend bool operator>=(const collection &one, const collection &other)
	{
		return !(one < other);
	}
};

/* Returns the same collection for reading only. */
template <class Container> const collection<Container> &reading(const collection<Container> &all)
{
	return all;
}

} // namespace cpprof

#endif
