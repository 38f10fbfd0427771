/* The slider-crank for IDA, of the driver for SUNDIALS (sundials.c); as peer_method.slider. */
#ifndef POLHODE_BENCH_SUNDIALS_CRANK_H
#define POLHODE_BENCH_SUNDIALS_CRANK_H

int sundials_slider(double effort, double end, double x[3], double *seconds);

#endif
