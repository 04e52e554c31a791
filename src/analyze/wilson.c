#include <math.h>

#include "analyze/analyses.h"

/* E. B. Wilson, "Probable inference, the law of succession, and statistical
 * inference", JASA 22 (1927): with p the fraction, n the samples and z the
 * normal quantile, the interval is
 *
 *   (p + z^2/2n  +-  z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
 */
double analyze_error(uint64_t hits, uint64_t total, double samples)
{
	if (samples <= 0 || total == 0)
		return 0;
	const double z = 1.959963984540054; /* 97.5 % of the normal distribution are below it */
	double n = samples;
	double p = hits >= total ? 1 : (double)hits / (double)total;
	return z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
}
