/* The plural of a unit or of any other English noun. */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

/* Returns the ending of `noun` for an amount of it: "s" or "es" ("misses", "switches", "indexes"), or "" for 1, for a
 * unit of time such as "ns", and for an empty text. A static string. */
const char *plural_ending(const char *noun, double amount);

#endif
