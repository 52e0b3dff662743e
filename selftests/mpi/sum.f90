! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! Collectives of Fortran, by the module mpi and by the module mpi_f08. Rank 0
! prints "N processes: good" if all results are as computed.

module by_mpi
  use mpi
  implicit none
contains
  integer function faults(rank, n)
    integer, intent(in) :: rank, n
    integer :: sums(3), ranks(3), comm, ierr, i
    double precision :: x, y

    faults = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    ranks = [(rank * i, i = 1, 3)]
    call MPI_Allreduce(ranks, sums, 3, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (any(sums /= [(n * (n - 1) / 2 * i, i = 1, 3)])) faults = faults + 1
    x = rank + 0.5d0
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierr)
    if (x /= n - 0.5d0) faults = faults + 1
    x = rank
    y = -1
    call MPI_Reduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, n - 1, comm, ierr)
    if (rank == n - 1 .and. y /= n * (n - 1) / 2) faults = faults + 1
    if (rank /= n - 1 .and. y /= -1) faults = faults + 1
    if (rank == 0) ranks = [7, 8, 9]
    call MPI_Bcast(ranks, 3, MPI_INTEGER, 0, comm, ierr)
    if (any(ranks /= [7, 8, 9])) faults = faults + 1
    call MPI_Barrier(comm, ierr)
    call MPI_Comm_free(comm, ierr)
    if (comm /= MPI_COMM_NULL) faults = faults + 1
  end function faults
end module by_mpi

module by_f08
  use mpi_f08
  implicit none
contains
  integer function faults_f08(rank, n)
    integer, intent(in) :: rank, n
    type(MPI_Comm) :: comm
    integer :: sums(3), ranks(3), i

    faults_f08 = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    ranks = [(rank * i, i = 1, 3)]
    call MPI_Allreduce(ranks, sums, 3, MPI_INTEGER, MPI_SUM, comm)
    if (any(sums /= [(n * (n - 1) / 2 * i, i = 1, 3)])) faults_f08 = faults_f08 + 1
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, ranks, 3, MPI_INTEGER, MPI_SUM, 0, comm)
      if (any(ranks /= sums)) faults_f08 = faults_f08 + 1
    else
      call MPI_Reduce(ranks, sums, 3, MPI_INTEGER, MPI_SUM, 0, comm)
    end if
    call MPI_Bcast(ranks, 3, MPI_INTEGER, 0, comm)
    if (any(ranks /= [(n * (n - 1) / 2 * i, i = 1, 3)])) faults_f08 = faults_f08 + 1
    call MPI_Barrier(comm)
    call MPI_Comm_free(comm)
  end function faults_f08
end module by_f08

program sum_of_ranks
  use mpi
  use by_mpi, only: faults
  use by_f08, only: faults_f08
  implicit none
  integer :: rank, n, bad, all_bad, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  bad = faults(rank, n) + faults_f08(rank, n)
  call PMPI_Allreduce(bad, all_bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all_bad == 0) print '(i0, a)', n, ' processes: good'
  call MPI_Finalize(ierr)
  if (all_bad /= 0) stop 1
end program sum_of_ranks
