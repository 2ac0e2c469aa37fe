// What the playground computes: the radial SKD R of Eq. (3), the trace error (C.1), and their gradients, for the
// Gaussian kernel K(s, x) = exp(−ρ‖s − x‖²) in the plane. Points are flat arrays: x₀, y₀, x₁, y₁, …
// tests/book/test_playground.py compares all of it with the library.

const nystrom = (() => {
  "use strict";

  const THIN = 1e-11;         // pivots below this, and double precision shows in the sixth digit of the trace error
  const LEAST_PIVOT = 1e-9;   // below this, the gradient of the trace error needs something added to the diagonal
  const FIRST_RIDGE = 1e-10;  // which is this much, or ten times more as often as necessary

  // ‖K‖_F², the constant of R.
  function squaredNorm(points, rho) {
    const N = points.length / 2;
    let total = 0;
    for (let i = 0; i < N; i++) {
      let row = 0;
      for (let j = 0; j < i; j++) {
        const dx = points[2 * i] - points[2 * j], dy = points[2 * i + 1] - points[2 * j + 1];
        row += Math.exp(-2 * rho * (dx * dx + dy * dy));
      }
      total += row;
    }
    return N + 2 * total;
  }

  // For each landmark Σ K²(s, x) over the points, and its derivative by s, which is Σ −4ρ(s − x)K²(s, x).
  function squaredSums(sample, points, rho) {
    const n = sample.length / 2, slope = new Float64Array(2 * n);
    let total = 0;
    for (let k = 0; k < n; k++) {
      const sx = sample[2 * k], sy = sample[2 * k + 1];
      let sum = 0, gx = 0, gy = 0;
      for (let i = 0; i < points.length; i += 2) {
        const dx = sx - points[i], dy = sy - points[i + 1];
        const square = Math.exp(-2 * rho * (dx * dx + dy * dy));
        sum += square; gx += dx * square; gy += dy * square;
      }
      total += sum;
      slope[2 * k] = -4 * rho * gx; slope[2 * k + 1] = -4 * rho * gy;
    }
    return {total, slope};
  }

  // R(S) = ‖K‖_F² − (Σ K²(s, x))² / Σ K²(s, s′), and its gradient, Eq. (5).
  function radialSKD(points, sample, rho, constant) {
    const data = squaredSums(sample, points, rho), own = squaredSums(sample, sample, rho);
    const ratio = data.total / own.total;
    return {
      value: constant - data.total * ratio,
      gradient: data.slope.map((slope, i) => 2 * ratio * (ratio * own.slope[i] - slope)),
    };
  }

  const kernel = (sample, k, x, y, rho) => {
    const dx = sample[2 * k] - x, dy = sample[2 * k + 1] - y;
    return Math.exp(-rho * (dx * dx + dy * dy));
  };

  // The Cholesky factor of K_S, the largest pivot first. A landmark that copies another adds nothing and is left
  // out; if one of these is no copy, the trace error is `lost` in double precision.
  function pivotedFactor(sample, rho) {
    const n = sample.length / 2, L = new Float64Array(n * n), order = [...Array(n).keys()];
    const left = new Float64Array(n).fill(1);
    for (let k = 0; k < n; k++) {
      let best = k;
      for (let j = k + 1; j < n; j++) if (left[order[j]] > left[order[best]]) best = j;
      if (!(left[order[best]] > THIN)) {
        const isCopy = p => order.slice(0, k).some(q =>
          sample[2 * p] === sample[2 * q] && sample[2 * p + 1] === sample[2 * q + 1]);
        return {L, order, rank: k, lost: !order.slice(k).every(isCopy)};
      }
      [order[k], order[best]] = [order[best], order[k]];
      for (let j = 0; j < k; j++) [L[k * n + j], L[best * n + j]] = [L[best * n + j], L[k * n + j]];
      const pivot = order[k], root = Math.sqrt(left[pivot]);
      L[k * n + k] = root;
      for (let i = k + 1; i < n; i++) {
        let sum = kernel(sample, order[i], sample[2 * pivot], sample[2 * pivot + 1], rho);
        for (let j = 0; j < k; j++) sum -= L[i * n + j] * L[k * n + j];
        L[i * n + k] = sum / root;
        left[order[i]] -= L[i * n + k] ** 2;
      }
    }
    return {L, order, rank: n, lost: false};
  }

  // tr(K − K̂(S)): the sum over the points of K(x, x) − K̂(x, x), which are the `residuals`.
  function traceError(points, sample, rho) {
    const n = sample.length / 2, {L, order, rank, lost} = pivotedFactor(sample, rho);
    const residuals = new Float64Array(points.length / 2), v = new Float64Array(n);
    let value = 0;
    for (let i = 0; i < residuals.length; i++) {
      let left = 1;
      for (let k = 0; k < rank; k++) {
        let sum = kernel(sample, order[k], points[2 * i], points[2 * i + 1], rho);
        for (let j = 0; j < k; j++) sum -= L[k * n + j] * v[j];
        v[k] = sum / L[k * n + k];
        left -= v[k] * v[k];
      }
      residuals[i] = Math.max(left, 0);
      value += left;
    }
    return {value, residuals, lost};
  }

  // The Cholesky factor of K_S with the least ridge on its diagonal that double precision carries; null if none does.
  function ridgedFactor(sample, rho) {
    const n = sample.length / 2, L = new Float64Array(n * n);
    for (let ridge = 0; ridge < 1; ridge = ridge ? 10 * ridge : FIRST_RIDGE) {
      const floor = (1 + ridge) * (ridge ? 0.1 * ridge : LEAST_PIVOT);
      let sound = true;
      for (let i = 0; i < n && sound; i++) {
        for (let k = 0; k <= i; k++) {
          let sum = k === i ? 1 + ridge : kernel(sample, i, sample[2 * k], sample[2 * k + 1], rho);
          for (let j = 0; j < k; j++) sum -= L[i * n + j] * L[k * n + j];
          if (k < i) L[i * n + k] = sum / L[k * n + k];
          else if (sum > floor) L[i * n + i] = Math.sqrt(sum);
          else sound = false;
        }
      }
      if (sound) return L;
    }
    return null;
  }

  // With W = K_S, C = K(S, D) and A = W⁻¹C, d tr(K − K̂) = −2 tr(Aᵀ dC) + tr(A Aᵀ dW).
  function traceGradient(points, sample, rho) {
    const n = sample.length / 2, gradient = new Float64Array(2 * n), L = ridgedFactor(sample, rho);
    if (!L) return gradient.fill(NaN);
    const product = new Float64Array(n * n), c = new Float64Array(n), a = new Float64Array(n);
    for (let i = 0; i < points.length; i += 2) {
      const x = points[i], y = points[i + 1];
      for (let k = 0; k < n; k++) {
        c[k] = kernel(sample, k, x, y, rho);
        let sum = c[k];
        for (let j = 0; j < k; j++) sum -= L[k * n + j] * a[j];
        a[k] = sum / L[k * n + k];
      }
      for (let k = n - 1; k >= 0; k--) {
        const value = a[k] /= L[k * n + k];
        for (let j = 0; j < k; j++) a[j] -= L[k * n + j] * value;
      }
      for (let k = 0; k < n; k++) {
        const weight = 4 * rho * a[k] * c[k];
        gradient[2 * k] += weight * (sample[2 * k] - x);
        gradient[2 * k + 1] += weight * (sample[2 * k + 1] - y);
        for (let j = 0; j < k; j++) product[k * n + j] += a[k] * a[j];
      }
    }
    for (let k = 0; k < n; k++) {
      for (let j = 0; j < k; j++) {
        const weight = 4 * rho * product[k * n + j] * kernel(sample, k, sample[2 * j], sample[2 * j + 1], rho);
        for (const l of [0, 1]) {
          const move = weight * (sample[2 * k + l] - sample[2 * j + l]);
          gradient[2 * k + l] -= move;
          gradient[2 * j + l] += move;
        }
      }
    }
    return gradient;
  }

  // Lloyd's iteration: each landmark to the mean of the points nearer to it than to any other.
  function kMeans(points, sample, iterations = 100) {
    const centres = Float64Array.from(sample), n = centres.length / 2;
    for (let t = 0; t < iterations; t++) {
      const sums = new Float64Array(2 * n), counts = new Float64Array(n);
      for (let i = 0; i < points.length; i += 2) {
        let nearest = 0, least = Infinity;
        for (let k = 0; k < n; k++) {
          const distance = (centres[2 * k] - points[i]) ** 2 + (centres[2 * k + 1] - points[i + 1]) ** 2;
          if (distance < least) { least = distance; nearest = k; }
        }
        sums[2 * nearest] += points[i]; sums[2 * nearest + 1] += points[i + 1]; counts[nearest]++;
      }
      const before = Float64Array.from(centres);
      for (let k = 0; k < 2 * n; k++) if (counts[k >> 1]) centres[k] = sums[k] / counts[k >> 1];
      if (centres.every((value, i) => value === before[i])) break;
    }
    return centres;
  }

  return {squaredNorm, radialSKD, traceError, traceGradient, kMeans};
})();
