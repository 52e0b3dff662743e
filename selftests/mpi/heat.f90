! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! The heat equation of apps.c in Fortran, by the module mpi_f08: halos by
! messages, the time step by a maximum over all, which is in progress while the
! halos are on their way. Prints "bits HASH".

program heat
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 48, steps = 40
  real(real64), allocatable, asynchronous :: t(:, :)
  real(real64), allocatable :: next(:, :), all(:)
  real(real64), asynchronous :: most, greatest
  integer, allocatable :: counts(:), displs(:)
  integer :: rank, procs, first, rows, i, k, row, s, up, down
  type(MPI_Request) :: reqs(5)
  integer(int64) :: hash

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, procs)
  allocate (counts(procs), displs(procs))
  counts = [(n * (i + 1) / procs * n - n * i / procs * n, i = 0, procs - 1)]
  displs = [(n * i / procs * n, i = 0, procs - 1)]
  first = n * rank / procs
  rows = n * (rank + 1) / procs - first
  allocate (t(n, 0:rows + 1), next(n, 0:rows + 1), all(n * n))
  t = 0
  do i = 1, rows
    t(:, i) = [(modulo((first + i) * 31 + k * 7, 13) / 13d0, k = 1, n)]
  end do
  next = t
  up = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  down = merge(rank + 1, MPI_PROC_NULL, rank < procs - 1)
  do s = 1, steps
    most = maxval(0.1d0 + 0.05d0 * t(:, 1:rows)**2)
    call MPI_Irecv(t(1, 0), n, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, reqs(1))
    call MPI_Irecv(t(1, rows + 1), n, MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, reqs(2))
    call MPI_Iallreduce(most, greatest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, reqs(3))
    call MPI_Isend(t(1, 1), n, MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, reqs(4))
    call MPI_Isend(t(1, rows), n, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, reqs(5))
    call MPI_Waitall(5, reqs, MPI_STATUSES_IGNORE)
    do i = 1, rows
      row = first + i
      if (row == 1 .or. row == n) cycle
      do k = 2, n - 1
        next(k, i) = t(k, i) + 0.2d0 / greatest * (0.1d0 + 0.05d0 * t(k, i)**2) * &
          (t(k - 1, i) + t(k + 1, i) + t(k, i - 1) + t(k, i + 1) - 4 * t(k, i))
      end do
    end do
    t = next
  end do
  call MPI_Gatherv(t(1, 1), counts(rank + 1), MPI_DOUBLE_PRECISION, all, counts, displs, &
    MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    hash = 5381
    do i = 1, n * n
      hash = ieor(ishftc(hash, 7), transfer(all(i), hash))
    end do
    print '(a, z16.16)', 'bits ', hash
  end if
  call MPI_Finalize()
end program heat
