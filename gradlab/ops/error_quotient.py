"""The error function on arrays, by quotients of polynomials. Not an op: erf, erfc, erfinv and gelu are made of it.

Source: W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969) 631-637: one quotient in x^2
for |x| <= 15/32, one in |x| up to 4, one in 1 / x^2 beyond. Measured against Python's math.erf and math.erfc: the relative error
is below 1e-15 for both (erfc up to 26, where it is 1e-296).
"""

from __future__ import annotations

from math import pi, sqrt

from ..backend import Array, xp_of

EDGE = 0.46875
# Highest power first: numerator, denominator.
NEAR = ((1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3),
        (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3))  # fmt: skip
MIDDLE = ((2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1, 2.98635138197400131e2,
           8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
          (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
           3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3))  # fmt: skip
FAR = ((1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2,
        6.58749161529837803e-4),
       (1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3))  # fmt: skip


def quotient(coefficients: tuple[tuple[float, ...], tuple[float, ...]], z: Array) -> Array:
    """One polynomial over another."""
    xp = xp_of(z)
    top, bottom = xp.full_like(z, coefficients[0][0]), xp.full_like(z, coefficients[1][0])
    for c, d in zip(coefficients[0][1:], coefficients[1][1:], strict=True):
        top, bottom = top * z + c, bottom * z + d
    return top / bottom


def near(x: Array) -> Array:
    """erf(x) for |x| <= 15/32."""
    x = xp_of(x).clip(x, -EDGE, EDGE)
    return x * quotient(NEAR, x * x)


def beyond(z: Array) -> Array:
    """erfc(z) for z >= 15/32."""
    xp = xp_of(z)
    middle = quotient(MIDDLE, xp.clip(z, EDGE, 4.0))
    far = xp.clip(z, 4.0, 30.0)  # there e^(-z^2) is 0
    r = 1 / (far * far)
    # e^(-z^2) in two factors: the square of z to 4 bits is exact.
    z = xp.clip(z, EDGE, 30.0)
    short = xp.floor(z * 16) / 16
    tail = xp.exp(-short * short) * xp.exp(-(z - short) * (z + short))
    return tail * xp.where(z <= 4.0, middle, (1 / sqrt(pi) - r * quotient(FAR, r)) / far)


def bell(x: Array) -> Array:
    """The slope of erf: 2 e^(-x^2) / sqrt(pi)."""
    xp = xp_of(x)
    z = xp.clip(x, -30.0, 30.0)
    return 2 / sqrt(pi) * xp.exp(-z * z)
