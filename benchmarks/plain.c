/* A plain single-threaded C version of the paper's computations, for the Gaussian kernel
 *
 *     K(s, x) = exp(-rho |s - x|^2),   K^2(s, x) = exp(-2 rho |s - x|^2).
 *
 * It is the opponent of the benchmarks, so it is written as a careful C programmer would write it at
 * first: row-major arrays, contiguous inner loops, no allocation in a loop, every pair of landmarks
 * visited once, no exponential computed twice. No intrinsics, no blocking, no threads.
 */
#include <math.h>
#include <stddef.h>

static double squared_distance(const double *restrict s, const double *restrict x, ptrdiff_t d)
{
    double r = 0.0;
    for (ptrdiff_t l = 0; l < d; l++) {
        const double u = s[l] - x[l];
        r += u * u;
    }
    return r;
}

/* ||K_S||_F^2 and upsilon[k] = sum over j != k of K^2(s_k, s_j) (s_k - s_j), from the pairs j < k. */
static double landmark_sums(const double *restrict S, ptrdiff_t n, ptrdiff_t d, double rho,
                            double *restrict upsilon)
{
    double off_diagonal = 0.0;
    for (ptrdiff_t k = 0; k < n * d; k++)
        upsilon[k] = 0.0;
    for (ptrdiff_t k = 1; k < n; k++) {
        const double *sk = S + k * d;
        double *uk = upsilon + k * d;
        for (ptrdiff_t j = 0; j < k; j++) {
            const double *sj = S + j * d;
            double *uj = upsilon + j * d;
            const double w = exp(-2.0 * rho * squared_distance(sk, sj, d));
            off_diagonal += w;
            for (ptrdiff_t l = 0; l < d; l++) {
                const double v = w * (sk[l] - sj[l]);
                uk[l] += v;
                uj[l] -= v;
            }
        }
    }
    return (double)n + 2.0 * off_diagonal;
}

/* sum over i, k of K^2(s_k, x_i) and t2[k] = sum over i of K^2(s_k, x_i) (s_k - x_i).
 * The points are rows index[0..b-1] of X, or the first b rows where index is NULL. */
static double data_sums(const double *restrict X, const ptrdiff_t *restrict index, ptrdiff_t b,
                        const double *restrict S, ptrdiff_t n, ptrdiff_t d, double rho, double *restrict t2)
{
    double total = 0.0;
    for (ptrdiff_t k = 0; k < n * d; k++)
        t2[k] = 0.0;
    for (ptrdiff_t i = 0; i < b; i++) {
        const double *x = X + (index ? index[i] : i) * d;
        for (ptrdiff_t k = 0; k < n; k++) {
            const double *s = S + k * d;
            double *t = t2 + k * d;
            const double w = exp(-2.0 * rho * squared_distance(s, x, d));
            total += w;
            for (ptrdiff_t l = 0; l < d; l++)
                t[l] += w * (s[l] - x[l]);
        }
    }
    return total;
}

/* Eq. (6) with a batch (scale = N / b), Eq. (5) without one (scale = 1). work holds n * d numbers. */
static void gradient_from(const double *X, const ptrdiff_t *index, ptrdiff_t b, double scale, const double *S,
                          ptrdiff_t n, ptrdiff_t d, double rho, double *gradient, double *work)
{
    const double frobenius = landmark_sums(S, n, d, rho, gradient);
    const double t1 = scale * data_sums(X, index, b, S, n, d, rho, work);
    const double c = t1 / frobenius;
    for (ptrdiff_t k = 0; k < n * d; k++)
        gradient[k] = -4.0 * rho * (2.0 * c * c * gradient[k] - 2.0 * c * scale * work[k]);
}

void plain_one_sample_gradient(const double *X, ptrdiff_t N, const ptrdiff_t *batch, ptrdiff_t b, const double *S,
                               ptrdiff_t n, ptrdiff_t d, double rho, double *gradient, double *work)
{
    gradient_from(X, batch, b, (double)N / (double)b, S, n, d, rho, gradient, work);
}

void plain_gradient(const double *X, ptrdiff_t N, const double *S, ptrdiff_t n, ptrdiff_t d, double rho,
                    double *gradient, double *work)
{
    gradient_from(X, NULL, N, 1.0, S, n, d, rho, gradient, work);
}

/* Stochastic descent, S changed in place; batches is (steps, b). work holds 2 n d numbers. */
void plain_stochastic_descent(const double *X, ptrdiff_t N, const ptrdiff_t *batches, ptrdiff_t b, ptrdiff_t steps,
                              double *S, ptrdiff_t n, ptrdiff_t d, double rho, double gamma, double *work)
{
    for (ptrdiff_t t = 0; t < steps; t++) {
        plain_one_sample_gradient(X, N, batches + t * b, b, S, n, d, rho, work, work + n * d);
        for (ptrdiff_t k = 0; k < n * d; k++)
            S[k] -= gamma * work[k];
    }
}

/* Gradient descent, S changed in place. work holds 2 n d numbers. */
void plain_descent(const double *X, ptrdiff_t N, ptrdiff_t steps, double *S, ptrdiff_t n, ptrdiff_t d, double rho,
                   double gamma, double *work)
{
    for (ptrdiff_t t = 0; t < steps; t++) {
        plain_gradient(X, N, S, n, d, rho, work, work + n * d);
        for (ptrdiff_t k = 0; k < n * d; k++)
            S[k] -= gamma * work[k];
    }
}

/* ||K||_F^2 of the points of X, each pair once. */
double plain_squared_frobenius_norm(const double *restrict X, ptrdiff_t N, ptrdiff_t d, double rho)
{
    double off_diagonal = 0.0;
    for (ptrdiff_t i = 1; i < N; i++)
        for (ptrdiff_t j = 0; j < i; j++)
            off_diagonal += exp(-2.0 * rho * squared_distance(X + i * d, X + j * d, d));
    return (double)N + 2.0 * off_diagonal;
}

/* R(S) - ||K||_F^2, Eq. (3). */
double plain_radial_skd(const double *restrict X, ptrdiff_t N, const double *restrict S, ptrdiff_t n, ptrdiff_t d,
                        double rho)
{
    double t1 = 0.0;
    for (ptrdiff_t i = 0; i < N; i++)
        for (ptrdiff_t k = 0; k < n; k++)
            t1 += exp(-2.0 * rho * squared_distance(X + i * d, S + k * d, d));
    return -t1 * t1 / plain_squared_frobenius_norm(S, n, d, rho);
}

/* The lower Cholesky factor of K_S, row by row. Returns 0, or 1 + the row where a pivot is not positive. */
ptrdiff_t plain_cholesky(const double *restrict S, ptrdiff_t n, ptrdiff_t d, double rho, double *restrict L)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double *row = L + i * n;
        double pivot = 1.0;
        for (ptrdiff_t j = 0; j < i; j++) {
            const double *other = L + j * n;
            double v = exp(-rho * squared_distance(S + i * d, S + j * d, d));
            for (ptrdiff_t k = 0; k < j; k++)
                v -= row[k] * other[k];
            row[j] = v / other[j];
            pivot -= row[j] * row[j];
        }
        if (!(pivot > 0.0))
            return i + 1;
        row[i] = sqrt(pivot);
    }
    return 0;
}

/* ||K - K_hat(S)||_* = sum over i of 1 - |L^-1 k(x_i)|^2, one forward substitution for each point.
 * work holds n numbers. */
double plain_trace_norm(const double *restrict X, ptrdiff_t N, const double *restrict S, ptrdiff_t n, ptrdiff_t d,
                        double rho, const double *restrict L, double *restrict work)
{
    double trace = 0.0;
    for (ptrdiff_t i = 0; i < N; i++) {
        double residual = 1.0;
        for (ptrdiff_t k = 0; k < n; k++) {
            const double *row = L + k * n;
            double v = exp(-rho * squared_distance(X + i * d, S + k * d, d));
            for (ptrdiff_t j = 0; j < k; j++)
                v -= row[j] * work[j];
            work[k] = v / row[k];
            residual -= work[k] * work[k];
        }
        trace += residual;
    }
    return trace;
}
