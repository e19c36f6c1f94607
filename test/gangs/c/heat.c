/* Heat on a ring of ranks. FAULT names what goes wrong on rank FAULT_RANK, at sweep FAULT_STEP. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int rank, size, at = getenv("FAULT_STEP") ? atoi(getenv("FAULT_STEP")) : 12;
	const char *fault = getenv("FAULT") ? getenv("FAULT") : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int mine = getenv("FAULT_RANK") && atoi(getenv("FAULT_RANK")) == rank;
	if (rank == 0) printf("heat: %d ranks, 64 x 64 cells each\n", size), fflush(stdout);
	for (int i = 1; i <= 40; i++) {
		double in = rank + i, out = 0;
		if (mine && i == at) {
			if (!strcmp(fault, "deck")) {
				FILE *f = fopen("/data/deck.in", "r");
				if (!f) { perror("heat: /data/deck.in"); MPI_Abort(MPI_COMM_WORLD, 2); }
			}
			if (!strcmp(fault, "root")) MPI_Bcast(&in, 1, MPI_DOUBLE, size + 3, MPI_COMM_WORLD);
			if (!strcmp(fault, "null")) { volatile double *p = NULL; in = *p; }
			if (!strcmp(fault, "returns")) { fprintf(stderr, "heat: rank %d: time step 0.9 is above the stable limit 0.25\n", rank); return 7; }
			if (!strcmp(fault, "daemon")) { kill(getppid(), 9); sleep(60); }
			if (!strcmp(fault, "smash")) { char b[8]; memset(b, 'x', 64 + argc); in = b[3]; }
			if (!strcmp(fault, "sleep")) sleep(1000);
		}
		MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (rank == 0 && i % 8 == 0) printf("sweep %4d  max change %.3e\n", i, 1.0 / i / i), fflush(stdout);
		usleep(50000);
	}
	if (rank == 0) printf("heat: steady after 40 sweeps\n");
	MPI_Finalize();
	return 0;
}
